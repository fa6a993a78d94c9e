package dev.sluice.checks.provisioning;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Names of ProvisioningRequests and PodTemplates (docs/provisioning.md#what-is-created). */
final class RequestNames {

  private static final int LONGEST = 247;
  private static final int HASH = 5;

  private RequestNames() {}

  /**
   * The name of a request.
   *
   * @param attempt 1 for the first
   */
  static String request(String workload, String check, int attempt) {
    return cut(workload + "-" + check + "-" + attempt);
  }

  /** The name of the PodTemplate of a pod set. */
  static String template(String request, String podSet) {
    return cut("ppt-" + request + "-" + podSet);
  }

  private static String cut(String name) {
    return name.length() <= LONGEST ? name : name.substring(0, LONGEST) + "-" + sha1(name);
  }

  private static String sha1(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).substring(0, HASH);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
