"""Does a group's profile help a person find what that person will like? 943 real people, and what they rated later."""
