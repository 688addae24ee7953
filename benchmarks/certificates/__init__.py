"""Wrong answers: confidence, guards and certificates, beside semantic caches."""
