"""Quality of cluster labels: splitting of answers, weights for it, and trainings on wrong labels."""
