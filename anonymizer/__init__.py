"""How are profiles made anonymous, and what does each way promise?"""

import shoal.anonymizer.compiling  # noqa: F401  before any of its modules compiles a loop
