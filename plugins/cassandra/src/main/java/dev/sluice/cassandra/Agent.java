package dev.sluice.cassandra;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.slf4j.LoggerFactory;

/**
 * Loads the plug-in into a node, by {@code -javaagent}. Nothing of Cassandra is touched before its
 * own start has ended: what initializes its classes out of turn breaks it.
 */
public final class Agent {
  private static final String STORAGE_SERVICE = "org.apache.cassandra.db:type=StorageService";
  private static final long PERIOD_MILLIS = 200;

  private Agent() {}

  /** Called by Java before the node's own main method. */
  public static void premain(String arguments) {
    Thread thread = new Thread(Agent::startPlugin, "sluice-start");
    thread.setDaemon(true);
    thread.start();
  }

  private static void startPlugin() {
    try {
      ObjectName service = new ObjectName(STORAGE_SERVICE);
      MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
      while (!isNormal(beans, service)) {
        Thread.sleep(PERIOD_MILLIS);
      }
      new Plugin().start(System::getProperty);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (JMException | RuntimeException | LinkageError e) {
      LoggerFactory.getLogger(Agent.class).error("no orders are taken: the plug-in has failed", e);
    }
  }

  /** Whether the node has joined: before that there is nothing to order. */
  private static boolean isNormal(MBeanServer beans, ObjectName service) throws JMException {
    return beans.isRegistered(service)
        && Boolean.TRUE.equals(beans.getAttribute(service, "Initialized"))
        && "NORMAL".equals(beans.getAttribute(service, "OperationMode"));
  }
}
