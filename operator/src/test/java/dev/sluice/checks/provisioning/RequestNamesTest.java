package dev.sluice.checks.provisioning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.provisioning.RequestManifest.RequestNames;
import org.junit.jupiter.api.Test;

class RequestNamesTest {

  @Test
  void namesSayWorkloadCheckAndAttempt() {
    assertThat(RequestNames.request("wl", "check", 2)).isEqualTo("wl-check-2");
    assertThat(RequestNames.template("wl-check-2", "main")).isEqualTo("ppt-wl-check-2-main");
  }

  /** Changes of 0.20, section 1. */
  @Test
  void longNamesAreCutAndToldApartByADigest() {
    String workload = "w".repeat(239);
    assertThat(RequestNames.request(workload, "check", 1)).hasSize(247).endsWith("-check-1");
    // echo -n "$(printf 'w%.0s' {1..240})-check-1" | sha1sum
    assertThat(RequestNames.request("w" + workload, "check", 1))
        .hasSize(253)
        .isEqualTo("w".repeat(240) + "-check-" + "-1a589");
    assertThat(RequestNames.request("w" + workload, "check", 2))
        .isNotEqualTo(RequestNames.request("w" + workload, "check", 1));
    assertThat(RequestNames.template("r".repeat(250), "main")).hasSize(253);
  }
}
