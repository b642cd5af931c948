package dev.sluice.hbase.modules;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.throttle.NoLimitThroughputController;

/** Holds compactions until new settings lift that; whether it takes settings over is one, too. */
public final class SettledController extends NoLimitThroughputController {
  static final String TAKES_OVER = "dev.sluice.test.takes.over";
  private static final long DEADLINE_SECONDS = 300;

  private final CountDownLatch lifted = new CountDownLatch(1);

  @Override
  public boolean reconfigure(Configuration newConf) {
    if (!newConf.getBoolean(TAKES_OVER, true)) {
      return false;
    }
    lifted.countDown();
    return true;
  }

  @Override
  public long control(String compactionName, long size) throws InterruptedException {
    if (!lifted.await(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
      throw new InterruptedException("no new settings came");
    }
    return 0;
  }
}
