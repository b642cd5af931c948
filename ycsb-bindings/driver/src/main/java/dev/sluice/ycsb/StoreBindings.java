package dev.sluice.ycsb;

import java.util.List;
import java.util.Properties;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/** The bindings on the class path. */
final class StoreBindings {
  private StoreBindings() {}

  static List<StoreBinding> all() {
    return ServiceLoader.load(StoreBinding.class).stream()
        .map(ServiceLoader.Provider::get)
        .toList();
  }

  static StoreBinding named(String name) {
    return all().stream()
        .filter(binding -> binding.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new SettingException("no store '" + name + "'; use " + names()));
  }

  /** Refuses properties that carry the store's prefix and that the binding does not read. */
  static void checkNames(StoreBinding binding, Properties properties) {
    String prefix = binding.name() + ".";
    List<String> known = binding.settings().stream().map(Setting::name).toList();
    for (String name : properties.stringPropertyNames()) {
      if (name.startsWith(prefix) && !known.contains(name)) {
        throw new SettingException("no setting '" + name + "'; use one of " + known);
      }
    }
  }

  private static String names() {
    return all().stream().map(StoreBinding::name).sorted().collect(Collectors.joining(" or "));
  }
}
