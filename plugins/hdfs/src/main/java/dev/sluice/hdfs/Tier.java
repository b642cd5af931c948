package dev.sluice.hdfs;

import java.util.Optional;
import org.apache.hadoop.fs.StorageType;

/** The two tiers that log data may go to, by the words of the local protocol. */
enum Tier {
  FAST("fast", StorageType.SSD),
  SLOW("slow", StorageType.DISK);

  private final String text;
  private final StorageType storageType;

  Tier(String text, StorageType storageType) {
    this.text = text;
    this.storageType = storageType;
  }

  static Optional<Tier> find(String text) {
    for (Tier tier : values()) {
      if (tier.text.equals(text)) {
        return Optional.of(tier);
      }
    }
    return Optional.empty();
  }

  /** What volumes of this tier are declared as in the DataNode's configuration. */
  StorageType storageType() {
    return storageType;
  }
}
