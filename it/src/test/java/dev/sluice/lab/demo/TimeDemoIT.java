package dev.sluice.lab.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.BuildBreadth;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The played day of two teams, as a user sees it. */
@Tag(BuildBreadth.NIGHTLY)
class TimeDemoIT {

  @Test
  void everyExpectationOfTheDayHolds() {
    StringWriter out = new StringWriter();
    int exitCode =
        new CommandLine(new PoolDemo.TimeDemo())
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(out))
            .execute();
    assertThat(exitCode).as(out::toString).isZero();
    assertThat(out.toString()).contains("7 of 7 expectations held");
  }
}
