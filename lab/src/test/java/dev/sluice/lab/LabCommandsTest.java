package dev.sluice.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** What commands of the laboratory print before, or instead of, their work. */
class LabCommandsTest {

  private final StringWriter errors = new StringWriter();

  private int run(String... arguments) {
    CommandLine command = LabMain.commandLine();
    return command.setErr(new PrintWriter(errors, true)).execute(arguments);
  }

  @Test
  void aControlPlaneThatNobodyStartedCanNotBeStopped() {
    assertThat(run("control-plane", "down", "--name", "never-started-by-anybody")).isEqualTo(1);

    assertThat(errors.toString())
        .startsWith("there is no control plane named \"never-started-by-anybody\"; ")
        .hasLineCount(1);
  }

  @Test
  void aBenchmarkSaysFirstHowLongItTakes() {
    assertThat(run("bench", "mini", "--kubeconfig", "/no/such", "--operator-pid", "1"))
        .isEqualTo(1);

    assertThat(errors.toString().lines().findFirst().orElse(""))
        .matches(
            "mini: [\\d,]+ workloads in \\d+ queues; the run itself takes at least \\d+ s, on two"
                + " cores about \\d+ s");
  }
}
