package dev.sluice.local.redirect;

import dev.sluice.local.protocol.Refusal;
import java.util.Optional;

/** The two tiers that log data may go to, by the words of the local protocol. */
public enum Tier {
  FAST("fast"),
  SLOW("slow");

  private final String text;

  Tier(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }

  /** The tier that the protocol calls so, if there is one. */
  public static Optional<Tier> find(String text) {
    for (Tier tier : values()) {
      if (tier.text.equals(text)) {
        return Optional.of(tier);
      }
    }
    return Optional.empty();
  }

  /** The tier that the protocol calls so; refused if there is none. */
  public static Tier parse(String text) throws Refusal {
    Optional<Tier> tier = find(text);
    if (tier.isEmpty()) {
      throw Refusal.invalid("there is no tier \"" + text + "\"", "Tiers are fast and slow.");
    }
    return tier.get();
  }
}
