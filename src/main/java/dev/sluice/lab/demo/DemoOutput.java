package dev.sluice.lab.demo;

import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.lab.controlplane.ControlPlaneException;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/** What all demos print, and how they end. */
final class DemoOutput {

  private DemoOutput() {}

  /** A demo; it returns its expectations and whether they held. */
  @FunctionalInterface
  interface Demo {
    List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException;
  }

  /**
   * Runs a demo; says on standard error why it could not be told.
   *
   * @return the exit code: 0 if every expectation held, 3 if the control plane's programs can't be
   *     had or the cluster can't be reached, otherwise 1
   */
  static int exitCode(CommandSpec command, Demo demo) {
    PrintWriter err = command.commandLine().getErr();
    try {
      List<ExpectationResult> results = demo.run(command.commandLine().getOut());
      return results.stream().allMatch(ExpectationResult::held) ? 0 : 1;
    } catch (BinariesMissingException e) {
      err.println(e.getMessage());
      return 3;
    } catch (ControlPlaneException | ScenarioException e) {
      err.println(e.getMessage());
      return 1;
    } catch (KubernetesClientException e) {
      err.println(ApiErrorText.of(e));
      return ApiErrorText.unreachable(e) ? 3 : 1;
    }
  }

  /** Prints a line at once. */
  static void say(PrintWriter out, String line) {
    out.println(line);
    out.flush();
  }
}
