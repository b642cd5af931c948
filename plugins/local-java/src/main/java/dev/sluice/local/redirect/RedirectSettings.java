package dev.sluice.local.redirect;

import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.plugin.ConfiguredNumber;
import dev.sluice.local.protocol.Refusal;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.UnaryOperator;

/** What the store's configuration says of redirects, and what orders say instead. */
public final class RedirectSettings {
  /** The kind of tasks that the orders are about. */
  public static final String KIND = "log-placement";

  /** The settings that orders may give. */
  public static final List<SettingName> NAMES =
      List.of(
          SettingName.TIER,
          SettingName.REDIRECT_QUEUE_REQUESTS,
          SettingName.REDIRECT_SIZE_BYTES,
          SettingName.REDIRECT_STEP_RATIO);

  private static final double DEFAULT_STEP_RATIO = 0.25;

  private final LeaseStore leases;
  private final Optional<Double> queueRequests;
  private final double sizeBytes;
  private final double stepRatio;

  /**
   * Reads them: PREFIX{@code queue.requests} (L; without it nothing is redirected unless an order
   * says so), PREFIX{@code size.bytes} (S_max) and PREFIX{@code step.ratio} (p, as a part of
   * S_max).
   *
   * @param configuration gives the value of a key of the store's configuration, or null
   * @throws IllegalArgumentException if a value is none, with the key in its message
   */
  public RedirectSettings(
      LeaseStore leases,
      UnaryOperator<String> configuration,
      String prefix,
      double defaultSizeBytes) {
    this.leases = leases;
    queueRequests = number(configuration, prefix + "queue.requests", Double.MAX_VALUE);
    sizeBytes =
        number(configuration, prefix + "size.bytes", Double.MAX_VALUE).orElse(defaultSizeBytes);
    stepRatio = number(configuration, prefix + "step.ratio", 1).orElse(DEFAULT_STEP_RATIO);
  }

  private static Optional<Double> number(
      UnaryOperator<String> configuration, String key, double maximum) {
    String text = configuration.apply(key);
    if (text == null) {
      return Optional.empty();
    }
    OptionalDouble number = ConfiguredNumber.parse(text, 0, maximum);
    if (number.isEmpty()) {
      throw new IllegalArgumentException(
          key + " is \"" + text + "\": give a number from 0 to " + maximum);
    }
    return Optional.of(number.getAsDouble());
  }

  /** The tier that an order names. */
  public Optional<Tier> ordered() {
    return leases
        .find(KIND, Aspect.TIER, Scope.SERVER)
        .flatMap(lease -> Tier.find(lease.setting().text()));
  }

  /** What redirects are decided by; empty if they are not to be. */
  public Optional<RedirectLimits> limits() {
    return number(Aspect.REDIRECT_QUEUE)
        .or(() -> queueRequests)
        .map(
            queue ->
                new RedirectLimits(
                    queue,
                    number(Aspect.REDIRECT_SIZE).orElse(sizeBytes),
                    number(Aspect.REDIRECT_STEP).orElse(stepRatio)));
  }

  private Optional<Double> number(Aspect aspect) {
    return leases.find(KIND, aspect, Scope.SERVER).map(lease -> lease.setting().number());
  }

  /** Refuses a setting whose value is none. */
  public static void check(Setting setting) throws Refusal {
    if (setting.name() == SettingName.REDIRECT_STEP_RATIO && setting.number() > 1) {
      throw Refusal.invalid(
          "redirect_step_ratio is " + setting.number() + ", more than 1",
          "It is the part of redirect_size_bytes that the threshold loses at a time.");
    }
    if (setting.aspect() == Aspect.TIER) {
      Tier.parse(setting.text());
    }
  }
}
