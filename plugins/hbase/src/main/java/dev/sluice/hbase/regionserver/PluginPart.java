package dev.sluice.hbase.regionserver;

/**
 * A part of the plug-in, found by {@link java.util.ServiceLoader}. There is one of each for each
 * region server of the process. A part that fails is left out, and the others go on.
 */
public interface PluginPart {
  /** Called once, before the socket is served: here a part registers its kinds and reporters. */
  void attach(RegionServerPlugin plugin);

  /** Called ten times a second, on a thread of the plug-in. */
  default void tick() {}

  /** Called when the server stops: nothing may be held up any more. */
  default void detach() {}
}
