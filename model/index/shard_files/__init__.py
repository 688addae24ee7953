"""The bytes of a shard, every count of which is checked before FAISS reads them."""
