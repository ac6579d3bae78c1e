"""The Java libraries that every pass uses, used once beside the driver's first work: each brings hundreds of classes,
for which the first passes, both of them, would wait. They are the work of executors, so only a local Spark gains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What the code that Spark generates is made of.
_SOURCE = """
public Object generate(Object[] references) { return new Rows(references); }
static class Rows {
  private Object[] references;
  private long[] sums = new long[2];
  public Rows(Object[] references) { this.references = references; }
  public void next(int count) throws java.io.IOException {
    for (int i = 0; i < count; i++) {
      boolean isNull = references[i] == null;
      long value = isNull ? -1L : ((Long) references[i]).longValue();
      if (!isNull && value >= 0) { sums[i % 2] = sums[i % 2] + value; } else { continue; }
      do { if (value > 3) { break; } value++; } while (true);
    }
  }
}
"""


def use_libraries(spark: SparkSession, files: Sequence[str]) -> None:
    """Read a row group of the first of these Parquet files with Parquet, compile with Janino, run a task, and fill a
    vector of Arrow. What Java raises, goes through: a report does not depend on any of it.
    """
    jvm, context = spark._jvm, spark.sparkContext._jsc
    assert jvm is not None
    for file in files[:1]:
        parquet = jvm.org.apache.parquet.hadoop
        path = jvm.org.apache.hadoop.fs.Path(file)
        reader = parquet.ParquetFileReader.open(
            parquet.util.HadoopInputFile.fromPath(path, context.hadoopConfiguration())
        )
        reader.readNextRowGroup()
        reader.close()
    jvm.org.codehaus.janino.ClassBodyEvaluator().cook("", jvm.java.io.StringReader(_SOURCE))
    numbers = jvm.java.util.ArrayList()
    numbers.add(1)
    context.parallelize(numbers, 1).count()
    allocator = jvm.org.apache.arrow.memory.RootAllocator()
    vector = jvm.org.apache.arrow.vector.BigIntVector("number", allocator)
    vector.allocateNew()
    vector.close()
    allocator.close()
