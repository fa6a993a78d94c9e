package dev.sluice.lab.bench.backfill;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.forecast.trace.TraceJob;
import dev.sluice.lab.bench.backfill.BackfillCommand.BackfillTrial;
import dev.sluice.lab.bench.backfill.BackfillCommand.BackfillTrial.Order;
import dev.sluice.lab.bench.backfill.BackfillCommand.BackfillTrial.Outcome;
import dev.sluice.lab.bench.trace.TraceOptions;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The same jobs under each order (docs/backfill.md#measured). */
class BackfillCommandTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    return new CommandLine(new BackfillCommand())
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(args);
  }

  /** The options alone, as a command that plays nothing. */
  @CommandLine.Command(name = "jobs")
  static final class JobsCommand implements Runnable {
    @CommandLine.Mixin private TraceOptions traceOptions = new TraceOptions();

    @Override
    public void run() {
      // nothing to do with them
    }
  }

  private static List<TraceJob> madeUp(String format) throws Exception {
    JobsCommand command = new JobsCommand();
    CommandLine line = new CommandLine(command).setOut(new PrintWriter(new StringWriter()));
    line.parseArgs("--made-up", "1500", "--format", format);
    return command.traceOptions.read();
  }

  private static double last(double[] sorted, double part) {
    return sorted[(int) Math.ceil(part * sorted.length) - 1];
  }

  @ParameterizedTest
  @ValueSource(strings = {"swf", "helios", "alibaba"})
  void backfillUsesWhatStrictFifoLeavesIdleAndStarvesNoLargeJob(String format) throws Exception {
    List<TraceJob> jobs = madeUp(format);
    Map<String, Long> quota = new TreeMap<>();
    jobs.forEach(
        job -> job.amounts().forEach((name, amount) -> quota.merge(name, amount, Math::max)));
    BackfillTrial trial = new BackfillTrial(TraceOptions.squeezed(jobs, quota, 0.8), quota);
    Outcome bestEffort = trial.play(Order.BEST_EFFORT_FIFO);
    Outcome strict = trial.play(Order.STRICT_FIFO);
    for (Order order : List.of(Order.HEAD_ONLY, Order.DEPTH_10)) {
      Outcome outcome = trial.play(order);
      assertThat(outcome.late()).as("late under %s", order).isEmpty();
      assertThat(outcome.moved()).as("moved under %s", order).isEmpty();
      assertThat(outcome.use()).isGreaterThan(strict.use()).isGreaterThan(bestEffort.use() - 0.01);
      assertThat(last(outcome.largestWaits(), 0.95))
          .isLessThan(last(bestEffort.largestWaits(), 0.95) / 2);
    }
  }

  @Test
  void theTableAndThePlotsAreMade(@TempDir Path directory) throws Exception {
    assertThat(run("--month", "60", "--load", "0.9", "--plots", directory.toString())).isZero();
    assertThat(out.toString().lines().filter(line -> line.startsWith("| 0.9 | "))).hasSize(4);
    assertThat(Files.readString(directory.resolve("backfill-waits-0.9.svg")))
        .contains("BestEffortFIFO", "StrictFIFO", "HeadOnly", "Depth(10)");
  }

  @Test
  void badInputIsToldWithItsName(@TempDir Path directory) throws Exception {
    assertThat(run("--made-up", "1")).isEqualTo(2);
    assertThat(run("--made-up", "9", "--load", "0")).isEqualTo(2);
    assertThat(run("--made-up", "9", "--format", "xls")).isEqualTo(2);
    assertThat(run()).isEqualTo(2);
    assertThat(err.toString())
        .contains("--made-up", "--load", "\"xls\" is none of swf, helios, alibaba");
    Path empty = Files.createFile(directory.resolve("empty.swf"));
    assertThat(run("--trace", empty.toString())).isEqualTo(1);
    assertThat(run("--trace", directory.resolve("none").toString())).isEqualTo(1);
    assertThat(err.toString()).contains("empty.swf has no jobs to play", "can't read");
  }
}
