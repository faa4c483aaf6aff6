"""What do all pages stand on? Settings, the instance, the service, releases, people, log-in and errors."""
