package dev.sluice.app.whatif;

import dev.sluice.forecast.trace.TraceFormat;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The option {@code --format} of commands that read a trace. */
public final class TraceFormatOption {

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      defaultValue = "swf",
      description = "Format of the trace: swf, helios or alibaba (default: ${DEFAULT-VALUE}).")
  private String format = "swf";

  /**
   * The format that was given.
   *
   * @param spec the command
   * @throws ParameterException if there is no such format
   */
  public TraceFormat format(CommandSpec spec) {
    return TraceFormat.of(format)
        .orElseThrow(
            () ->
                new ParameterException(
                    spec.commandLine(),
                    "--format: \"" + format + "\" is none of swf, helios, alibaba"));
  }
}
