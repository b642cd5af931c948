package dev.sluice.local.protocol;

/** Compares the client's version of the protocol with the plug-in's. */
final class ClientVersion {
  private static final double MAX_PART = 1_000_000;

  private ClientVersion() {}

  /** Reads the params of describe; another major version is refused before anything else is. */
  static void check(Params params) throws Refusal {
    Params version = params.object("protocol_version");
    long major = (long) version.wholeNumber("major", -MAX_PART, MAX_PART);
    long minor = (long) version.wholeNumber("minor", 0, MAX_PART);
    if (major != Description.MAJOR) {
      throw new Refusal(
          Refusal.Code.INCOMPATIBLE,
          "the plug-in speaks version %d.%d of the local protocol, its client version %d.%d"
              .formatted(Description.MAJOR, Description.MINOR, major, minor),
          "Install a plug-in and an agent whose protocols have the same major version.");
    }
    version.refuseOthers();
    params.refuseOthers();
  }
}
