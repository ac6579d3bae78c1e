"""Other judges of schemas beside ours: Apache Avro and Apicurio's checkers. `make reference` runs it."""
