package dev.sluice.testing;

import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/** The operator as a process of its own, as a test that uses only the API needs it. */
public final class TestOperator {

  private TestOperator() {}

  /** One with the configuration as shipped, on free ports; ready when this returns. */
  public static OperatorProcess start(ControlPlane controlPlane, String name) {
    return start(controlPlane, name, "");
  }

  /**
   * One on free ports; ready when this returns.
   *
   * @param yaml fields of the configuration file that differ from what is shipped
   */
  public static OperatorProcess start(ControlPlane controlPlane, String name, String yaml) {
    OperatorSettings settings = OperatorSettings.onFreePorts(new Random());
    return OperatorProcess.start(
            name,
            controlPlane.kubeconfig(),
            yaml.isEmpty() ? settings : settings.with(yaml),
            Path.of("target", "operators"),
            List.of())
        .awaitReady();
  }
}
