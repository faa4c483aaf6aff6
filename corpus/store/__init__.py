"""Where does data come from, and where is it kept? The registry of data sets, and how one comes onto this machine."""
