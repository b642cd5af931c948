package dev.sluice.hbase.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AttributesTest {

  @Test
  void aFamilyHasWhatIsGiven() {
    ColumnFamilyDescriptor family =
        family("cf,versions=7,TTL=60,conf.hbase.hstore.blockingStoreFiles=99");
    assertEquals("cf", family.getNameAsString());
    assertEquals(7, family.getMaxVersions());
    assertEquals(60, family.getTimeToLive());
    assertEquals("99", family.getConfigurationValue("hbase.hstore.blockingStoreFiles"));
  }

  @Test
  void aFamilyKeepsWhatIsNotGiven() {
    ColumnFamilyDescriptor changed = Attributes.family("cf,TTL=60", family("cf,VERSIONS=7"));
    assertEquals(7, changed.getMaxVersions());
    assertEquals(60, changed.getTimeToLive());
  }

  @Test
  void aTableHasWhatIsGiven() {
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(TableName.valueOf("t"));
    Attributes.set(builder, "SPLIT_ENABLED=false,conf.hbase.hregion.max.filesize=5");
    TableDescriptor table = builder.build();
    assertEquals("5", table.getValue("hbase.hregion.max.filesize"));
    assertEquals(false, table.isSplitEnabled());
  }

  @Test
  void aMisspeltAttributeIsRefusedWithTheKnownOnes() {
    CommandFailure failure = assertThrows(CommandFailure.class, () -> family("cf,VERSION=3"));
    assertTrue(failure.advice().contains("VERSIONS"), failure.advice());
  }

  @Test
  void valuesAreKeptAsHbaseReadsThem() {
    ColumnFamilyDescriptor family =
        family("cf,COMPRESSION=gz,BLOOMFILTER=rowcol,IN_MEMORY=true,TTL=forever");
    assertEquals(Compression.Algorithm.GZ, family.getCompressionType());
    assertEquals(BloomType.ROWCOL, family.getBloomFilterType());
    assertEquals(true, family.isInMemory());
    assertEquals(HConstants.FOREVER, family.getTimeToLive());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ",TTL=1",
        "TTL=1",
        "a:b",
        "cf,",
        "cf,TTL",
        "cf,=1",
        "cf,TTL=soon",
        "cf,TTL=0",
        "cf,TTL=-1",
        "cf,VERSIONS=many",
        "cf,VERSIONS=",
        "cf,IN_MEMORY=yes",
        "cf,COMPRESSION=best"
      })
  void whatIsNoFamilyIsRefused(String specification) {
    assertThrows(CommandFailure.class, () -> family(specification));
  }

  private static ColumnFamilyDescriptor family(String specification) {
    return Attributes.family(
        specification, ColumnFamilyDescriptorBuilder.of(Attributes.familyName(specification)));
  }
}
