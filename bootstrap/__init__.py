"""The program that an administrator runs once, before anything else can be previewed."""
