"""How is a log anonymized that one machine cannot hold? Spark cuts it into blocks, and runs the method on each.

Nothing else imports pyspark. The workers have Shoal installed, and the files of --taxonomy and the like at the same
place; what they run on a block is what one machine runs (`anonymizer/blocks.py`), and so the release is the same.
"""
