package dev.sluice.hbase.regionserver;

import dev.sluice.local.plugin.Guarded;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The parts of a plug-in. One that fails takes neither the others nor the store along. */
final class PluginParts {
  private static final Logger LOG = LoggerFactory.getLogger(PluginParts.class);

  // Bounds a search that fails again and again.
  private static final int MAX_PARTS = 100;

  private final List<PluginPart> parts = new CopyOnWriteArrayList<>();

  void attach(RegionServerPlugin plugin) {
    attach(
        ServiceLoader.load(PluginPart.class, PluginPart.class.getClassLoader()).iterator(), plugin);
  }

  void attach(Iterator<PluginPart> found, RegionServerPlugin plugin) {
    for (int tried = 0; tried < MAX_PARTS; tried++) {
      try {
        if (!found.hasNext()) {
          return;
        }
        PluginPart part = found.next();
        part.attach(plugin);
        parts.add(part);
      } catch (ServiceConfigurationError | LinkageError | RuntimeException e) {
        LOG.error("a part of the plug-in cannot be used with this store: it is left out", e);
      }
    }
  }

  <T extends PluginPart> T get(Class<T> type) {
    for (PluginPart part : parts) {
      if (type.isInstance(part)) {
        return type.cast(part);
      }
    }
    throw new IllegalStateException(
        "the plug-in has no " + type.getName() + ": the log says why it was left out");
  }

  void tick() {
    each(PluginPart::tick);
  }

  void detach() {
    each(PluginPart::detach);
  }

  private void each(Consumer<PluginPart> call) {
    for (PluginPart part : parts) {
      Guarded.call(part.getClass().getName(), () -> call.accept(part));
    }
  }
}
