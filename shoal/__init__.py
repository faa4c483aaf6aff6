"""Search personalized with the profile of a group, and a workbench of what that costs and protects."""
