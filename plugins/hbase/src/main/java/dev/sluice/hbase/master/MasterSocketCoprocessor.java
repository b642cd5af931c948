package dev.sluice.hbase.master;

import java.util.Optional;
import org.apache.hadoop.hbase.CoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.CoreCoprocessor;
import org.apache.hadoop.hbase.coprocessor.HasMasterServices;
import org.apache.hadoop.hbase.coprocessor.MasterCoprocessor;
import org.apache.hadoop.hbase.coprocessor.MasterCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.MasterObserver;
import org.apache.hadoop.hbase.master.MasterServices;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the socket while a master is the active one. The annotation is what gives a coprocessor
 * more of the master than its name.
 */
@CoreCoprocessor
public final class MasterSocketCoprocessor implements MasterCoprocessor {
  private static final Logger LOG = LoggerFactory.getLogger(MasterSocketCoprocessor.class);

  private MasterPlugin plugin;

  @Override
  public void start(@SuppressWarnings("rawtypes") CoprocessorEnvironment environment) {
    // What a coprocessor throws would abort the master.
    try {
      plugin =
          MasterPlugin.of(
              services(environment), ((MasterCoprocessorEnvironment) environment).getConnection());
      plugin.serve();
    } catch (RuntimeException | LinkageError e) {
      LOG.error("no orders are taken", e);
    }
  }

  @SuppressWarnings("deprecation")
  private static MasterServices services(Object environment) {
    if (environment instanceof HasMasterServices core) {
      return core.getMasterServices();
    }
    throw new IllegalStateException("this version of HBase does not give what a master has");
  }

  /** Asked once, after the start. */
  @Override
  public Optional<MasterObserver> getMasterObserver() {
    return Optional.ofNullable(plugin).map(MasterPlugin::observer);
  }

  @Override
  public void stop(@SuppressWarnings("rawtypes") CoprocessorEnvironment environment) {
    if (plugin != null) {
      plugin.close();
    }
  }
}
