package dev.sluice.hdfs;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.LeaseConflictException;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.redirect.RedirectSettings;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.mockito.Mockito;

class LogPlacementTest {
  private static final long BLOCK_BYTES = 128;
  private static final long LARGE_BYTES = 256;

  // As the protocol numbers them.
  private static final int REFUSED = -32003;
  private static final int UNAVAILABLE = -32005;

  private final FakeClock clock = new FakeClock();
  private final LeaseStore leases = new LeaseStore(clock);
  private final Configuration conf = new Configuration(false);
  private final Volumes volumes = new Volumes();
  private FsVolumeSpi ssd;
  private FsVolumeSpi disk;

  @BeforeEach
  void addVolumes() throws IOException {
    ssd = volumes.add(StorageType.SSD, 1000);
    disk = volumes.add(StorageType.DISK, 1000);
    volumes.setQueue(ssd, 0);
    volumes.setQueue(disk, 0);
    conf.setLong("dfs.blocksize", BLOCK_BYTES);
  }

  private LogPlacement placement() {
    return new LogPlacement(new PlacementSettings(leases, conf), volumes.queues(), volumes::all);
  }

  private LogPlacement redirecting() {
    conf.set(PlacementSettings.PREFIX + "queue.requests", "4");
    return placement();
  }

  private List<FsVolumeSpi> targets(LogPlacement placement, long blockBytes) {
    return placement.targets(volumes.all(), StorageType.SSD, blockBytes);
  }

  private void order(Setting setting) throws LeaseConflictException {
    leases.set(RedirectSettings.KIND, Scope.SERVER, setting, "test", 10, false);
  }

  private void orderTier(String tier) throws LeaseConflictException {
    order(new Setting(SettingName.TIER, null, tier));
  }

  @Test
  void nothingIsRedirectedUnlessSomebodySaysSo() {
    LogPlacement placement = placement();
    volumes.setQueue(ssd, 100);
    placement.tick();
    assertEquals(List.of(), targets(placement, LARGE_BYTES * 100));
  }

  @Test
  void aQueueRedirectsSmallerAndSmallerWrites() {
    LogPlacement placement = redirecting();
    assertEquals(List.of(), targets(placement, LARGE_BYTES));
    volumes.setQueue(ssd, 5);
    assertEquals(List.of(disk), targets(placement, LARGE_BYTES));
    assertEquals(List.of(), targets(placement, BLOCK_BYTES));
    assertEquals(List.of(disk), targets(placement, BLOCK_BYTES));
    volumes.setQueue(ssd, 0);
    assertEquals(List.of(), targets(placement, LARGE_BYTES));
  }

  @Test
  void timeAloneShrinksTheThresholdToo() {
    LogPlacement placement = redirecting();
    volumes.setQueue(ssd, 5);
    placement.tick();
    placement.tick();
    volumes.setQueue(ssd, 1);
    assertEquals(List.of(), targets(placement, BLOCK_BYTES));
    assertEquals(List.of(disk), targets(placement, BLOCK_BYTES + 1));
  }

  @Test
  void oneFastVolumeWithoutAQueueIsEnough() throws IOException {
    FsVolumeSpi other = volumes.add(StorageType.SSD, 1000);
    LogPlacement placement = redirecting();
    volumes.setQueue(ssd, 5);
    volumes.setQueue(other, 3);
    assertEquals(List.of(), targets(placement, LARGE_BYTES));
  }

  @Test
  void oneThatIsFullIsNot() throws IOException {
    volumes.setQueue(volumes.add(StorageType.SSD, BLOCK_BYTES), 0);
    LogPlacement placement = redirecting();
    volumes.setQueue(ssd, 5);
    assertEquals(List.of(disk), targets(placement, LARGE_BYTES));
  }

  @Test
  void onlyIdleDisksWithRoomAreTargets() throws IOException {
    LogPlacement placement = redirecting();
    volumes.setQueue(ssd, 5);
    volumes.setQueue(volumes.add(StorageType.DISK, LARGE_BYTES), 0);
    volumes.setQueue(volumes.add(StorageType.ARCHIVE, 1000), 0);
    volumes.add(StorageType.DISK, 1000);
    FsVolumeSpi broken = volumes.add(StorageType.DISK, 1000);
    Mockito.when(broken.getAvailable()).thenThrow(new IOException("no such folder"));
    assertEquals(List.of(disk), targets(placement, LARGE_BYTES));
    volumes.setQueue(disk, 1);
    assertEquals(List.of(), targets(placement, LARGE_BYTES));
  }

  @Test
  void aQueueThatIsNotKnownRedirectsNothing() throws IOException {
    volumes.add(StorageType.SSD, 1000);
    LogPlacement placement = redirecting();
    volumes.setQueue(ssd, 5);
    assertEquals(List.of(), targets(placement, LARGE_BYTES));
    assertEquals(List.of(), targets(placement, LARGE_BYTES + 1));
  }

  @Test
  void whatWasNotAskedForOnTheFastTierStaysWhereItIs() throws Exception {
    LogPlacement placement = placement();
    orderTier("slow");
    for (StorageType type : List.of(StorageType.DISK, StorageType.ARCHIVE, StorageType.RAM_DISK)) {
      assertEquals(List.of(), placement.targets(volumes.all(), type, BLOCK_BYTES));
    }
  }

  @Test
  void anOrderNamesTheTierWhateverTheQueues() throws Exception {
    LogPlacement placement = redirecting();
    volumes.setQueue(disk, 50);
    orderTier("slow");
    assertEquals(List.of(disk), targets(placement, BLOCK_BYTES));
    volumes.setQueue(ssd, 50);
    volumes.setQueue(disk, 0);
    orderTier("fast");
    assertEquals(List.of(), targets(placement, LARGE_BYTES));
    clock.advanceSeconds(10);
    assertEquals(List.of(disk), targets(placement, LARGE_BYTES));
  }

  @Test
  void ordersReplaceTheLimitsOfTheConfiguration() throws Exception {
    LogPlacement placement = placement();
    volumes.setQueue(ssd, 5);
    order(Setting.of(SettingName.REDIRECT_QUEUE_REQUESTS, 4));
    order(Setting.of(SettingName.REDIRECT_SIZE_BYTES, 100));
    order(Setting.of(SettingName.REDIRECT_STEP_RATIO, 0));
    assertEquals(List.of(), targets(placement, 100));
    assertEquals(List.of(disk), targets(placement, 101));
    clock.advanceSeconds(10);
    assertEquals(List.of(), targets(placement, 101));
  }

  @Test
  void whatTheThresholdHasLostDoesNotOutliveItsLimits() throws Exception {
    LogPlacement placement = placement();
    volumes.setQueue(ssd, 5);
    order(Setting.of(SettingName.REDIRECT_QUEUE_REQUESTS, 4));
    for (int i = 0; i < 4; i++) {
      placement.tick();
    }
    clock.advanceSeconds(10);
    volumes.setQueue(ssd, 1);
    placement.tick();
    order(Setting.of(SettingName.REDIRECT_QUEUE_REQUESTS, 4));
    assertEquals(List.of(), targets(placement, LARGE_BYTES));
  }

  @Test
  void onlyStreamsOfTheConfigurationAreRedirected() throws Exception {
    conf.set(PlacementSettings.BLOCK_SIZES_KEY, "257, 300");
    LogPlacement placement = redirecting();
    volumes.setQueue(ssd, 5);
    assertEquals(List.of(), targets(placement, 256));
    assertEquals(List.of(disk), targets(placement, 257));
    orderTier("slow");
    assertEquals(List.of(), targets(placement, 256));
    assertEquals(List.of(disk), targets(placement, 257));
  }

  @Test
  void wrongOrdersAreRefused() {
    LogPlacement placement = placement();
    Setting tier = new Setting(SettingName.TIER, null, "ssd");
    Setting step = Setting.of(SettingName.REDIRECT_STEP_RATIO, 1.5);
    assertThrows(Refusal.class, () -> placement.checkOrder(Scope.SERVER, tier));
    assertThrows(Refusal.class, () -> placement.checkOrder(Scope.SERVER, step));
  }

  @Test
  void theSlowTierNeedsAVolume() {
    LogPlacement placement = placement();
    Setting slow = new Setting(SettingName.TIER, null, "slow");
    assertDoesNotThrow(() -> placement.checkOrder(Scope.SERVER, slow));
    volumes.all().remove(disk);
    assertEquals(REFUSED, refusal(placement, slow));
  }

  @Test
  void aDataNodeThatStartsIsNotAskedForTheSlowTier() {
    LogPlacement placement = placement();
    volumes.all().clear();
    assertEquals(UNAVAILABLE, refusal(placement, new Setting(SettingName.TIER, null, "slow")));
    Setting fast = new Setting(SettingName.TIER, null, "fast");
    assertDoesNotThrow(() -> placement.checkOrder(Scope.SERVER, fast));
  }

  private static int refusal(LogPlacement placement, Setting setting) {
    Executable check = () -> placement.checkOrder(Scope.SERVER, setting);
    return assertThrows(Refusal.class, check).number();
  }

  @Test
  void wrongSettingsAreNamed() {
    for (String wrong : List.of("2", "-1", "NaN", "much", "1d", "0x1p-1")) {
      conf.set(PlacementSettings.PREFIX + "step.ratio", wrong);
      Exception e = assertThrows(IllegalArgumentException.class, this::placement);
      assertEquals(
          "sluice.redirect.step.ratio is \"" + wrong + "\": give a number from 0 to 1.0",
          e.getMessage());
    }
  }

  @Test
  void wrongBlockSizesAreNamed() {
    for (String wrong : List.of("256m", "0", "-1", "1.5", "1e30", "128d")) {
      conf.set(PlacementSettings.BLOCK_SIZES_KEY, "300," + wrong);
      Exception e = assertThrows(IllegalArgumentException.class, this::placement);
      assertEquals(
          "sluice.redirect.block.bytes has \""
              + wrong
              + "\": give whole numbers of bytes from 1 on",
          e.getMessage());
    }
  }
}
