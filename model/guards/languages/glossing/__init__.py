"""Turkish, Arabic, Hindi, Chinese and Japanese texts as roots and glosses."""
