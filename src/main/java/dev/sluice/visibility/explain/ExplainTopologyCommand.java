package dev.sluice.visibility.explain;

import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.KubeconfigOption;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code sluice explain topology FLAVOR}. */
@Command(
    name = "topology",
    aliases = {"topologies", "topo"},
    description = {
      "Shows the nodes of a ResourceFlavor with a topology as a tree: what each domain has, what is"
          + " free, which Workloads hold it, and how much of what is free is in one domain.",
      "Asks the operator, which knows the moment's numbers; you need the permission to get the path"
          + " /explain/v1 there."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it was shown",
      "1:the operator has no such flavor with a topology, or didn't answer",
      "2:the command line is wrong",
      "3:a file can't be read"
    })
public final class ExplainTopologyCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "FLAVOR", description = "The ResourceFlavor's name.")
  private String flavor = "";

  @Mixin private KubeconfigOption kubeconfig = new KubeconfigOption();

  @Mixin private OperatorOptions operator = new OperatorOptions();

  @Override
  public Integer call() {
    if (!operator.isPresent()) {
      throw new ParameterException(spec.commandLine(), "Missing required option: --operator=URL");
    }
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try {
      Optional<LiveExplanation> live = operator.client(kubeconfig.config());
      LiveExplanation.Lines lines = live.orElseThrow().topology(flavor);
      lines.text().forEach(lines.answered() ? out::println : err::println);
      out.flush();
      return lines.answered() ? 0 : 1;
    } catch (IOException e) {
      err.println(ApiErrorText.of(e));
      return 3;
    }
  }
}
