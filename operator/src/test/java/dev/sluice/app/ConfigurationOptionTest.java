package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.app.Main.ConfigurationOption;
import dev.sluice.kube.client.KubeconfigOption;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Files of the command line. An empty text is the default of both options. */
class ConfigurationOptionTest {

  private static ConfigurationOption configuration(String... arguments) {
    return CommandLine.populateCommand(new ConfigurationOption(), arguments);
  }

  private static KubeconfigOption kubeconfig(String... arguments) {
    return CommandLine.populateCommand(new KubeconfigOption(), arguments);
  }

  @Test
  void anEmptyTextGivesNoFile() {
    assertThat(configuration("--config=").file()).isEmpty();
    assertThat(configuration("--config", "").file()).isEmpty();
    assertThat(configuration().file()).isEmpty();
    assertThat(kubeconfig("--kubeconfig=").file()).isEmpty();
    assertThat(kubeconfig().file()).isEmpty();
  }

  @Test
  void aPathGivesTheFile() {
    assertThat(configuration("--config=/a/b").file()).contains(Path.of("/a/b"));
    assertThat(kubeconfig("--kubeconfig", "c").file()).contains(Path.of("c"));
  }
}
