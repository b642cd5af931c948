package dev.sluice.local.plugin;

/**
 * A store and its plug-in, as the local protocol names them.
 *
 * @param name a word, such as "hbase": also the folder of its sockets
 */
public record Store(String name, String version, String pluginVersion) {

  /** A store whose plug-in's version is in the manifest of the jar that a class comes from. */
  public static Store of(String name, String version, Class<?> pluginClass) {
    String pluginVersion = pluginClass.getPackage().getImplementationVersion();
    return new Store(name, version, pluginVersion == null ? "development" : pluginVersion);
  }
}
