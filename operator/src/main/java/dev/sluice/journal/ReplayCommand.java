package dev.sluice.journal;

import dev.sluice.core.model.Decision;
import dev.sluice.journal.JournalCommand.DirectoryParameter;
import dev.sluice.journal.JournalCommand.RangeOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sluice replay}: decides everything in a journal once more, and compares. */
@Command(
    name = "replay",
    description = {
      "Applies the events of a journal to an engine once more, and compares its decisions with"
          + " those of the journal, byte by byte.",
      "The first difference is shown with what was before it."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every decision that could be replayed is the same; with --self-test: the difference was"
          + " found",
      "1:a decision differs, or nothing could be replayed; the message says which",
      "2:the command line is wrong",
      "3:the directory can't be read"
    })
public final class ReplayCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private DirectoryParameter directory = new DirectoryParameter();

  @Mixin private RangeOptions range = new RangeOptions();

  @Option(
      names = "--self-test",
      description =
          "Changes the first admission of the replay before it is compared, and succeeds only if"
              + " the difference is found.")
  private boolean selfTest;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    try {
      Replay.Result result =
          new Replay(
                  directory.existing(),
                  range.from(),
                  range.to(),
                  selfTest ? new PlantedDifference() : Function.identity())
              .run();
      result.skipped().forEach(reason -> out.println("not replayed: " + reason));
      result.difference().map(Replay::lines).ifPresent(lines -> lines.forEach(out::println));
      out.printf(
          "%d events, %d cycles, %d decisions the same%n",
          result.events(), result.cycles(), result.decisions());
      out.flush();
      return result.difference().isEmpty() != selfTest && result.events() > 0 ? 0 : 1;
    } catch (IOException e) {
      spec.commandLine().getErr().println("sluice: " + e.getMessage());
      return 3;
    }
  }

  /** Sends the first admission to another ClusterQueue. */
  private static final class PlantedDifference implements Function<Decision, Decision> {

    private boolean planted;

    @Override
    public Decision apply(Decision decision) {
      if (planted || !(decision instanceof Decision.Admit admit)) {
        return decision;
      }
      planted = true;
      return new Decision.Admit(
          admit.id(),
          admit.version(),
          admit.clusterQueue() + "-planted",
          admit.podSets(),
          admit.at(),
          admit.queuedAt(),
          admit.considered());
    }
  }
}
