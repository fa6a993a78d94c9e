package dev.sluice.webhooks.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.api.config.FeatureGate;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WebhookSettingsTest {

  private static Stream<FeatureGate> switchable() {
    return Arrays.stream(FeatureGate.values()).filter(gate -> gate.works(false));
  }

  private static boolean needs(FeatureGate gate, FeatureGate needed) {
    return gate == needed || gate.needs().stream().anyMatch(each -> needs(each, needed));
  }

  @ParameterizedTest
  @MethodSource("switchable")
  void gateThatTheConfigurationHasOff(FeatureGate gate) throws Exception {
    String gates =
        switchable()
            .filter(each -> needs(each, gate))
            .map(each -> each.text() + ": false")
            .collect(Collectors.joining(", ", "featureGates: {", "}\n"));
    String text =
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
            + "kubeQueue: {enabled: false}\n"
            + gates;

    WebhookSettings settings =
        WebhookSettings.of(ConfigurationLoader.parse(text, "", () -> "kueue-system"));

    assertThat(settings.isOn(gate)).isFalse();
  }
}
