"""Guards against answers to another question, in differences that bags of words cannot see."""
