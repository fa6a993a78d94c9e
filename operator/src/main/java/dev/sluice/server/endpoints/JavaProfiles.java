package dev.sluice.server.endpoints;

import dev.sluice.server.endpoints.ProfileEndpoint.ProcessProfiles;
import dev.sluice.server.http.Response;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.text.ParseException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.management.JMException;
import javax.management.ObjectName;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;

/** Profiles of this Java machine: its diagnostic commands, and its Flight Recorder. */
public final class JavaProfiles implements ProcessProfiles {

  /** A recording that grows beyond this many bytes loses its beginning. */
  private static final long LARGEST_RECORDING = 24 << 20;

  /** Events that tell the values of variables and properties, which may be passwords. */
  private static final List<String> UNWANTED =
      List.of("jdk.InitialEnvironmentVariable", "jdk.InitialSystemProperty");

  @Override
  public String threads() {
    return command("threadPrint", "-l");
  }

  @Override
  public String heap(boolean collect) {
    return collect ? command("gcClassHistogram") : command("gcClassHistogram", "-all");
  }

  @Override
  public Response recording(int seconds) {
    try (Recording recording = new Recording(Configuration.getConfiguration("profile"))) {
      recording.setMaxSize(LARGEST_RECORDING);
      UNWANTED.forEach(recording::disable);
      recording.start();
      TimeUnit.SECONDS.sleep(seconds);
      recording.stop();
      try (InputStream stream = recording.getStream(null, null)) {
        return stream == null
            ? Response.text(503, "the recording has no data")
            : new Response(200, "application/octet-stream", stream.readAllBytes());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Response.text(503, "the process ends");
    } catch (IOException | ParseException | IllegalStateException e) {
      return Response.text(503, "there is no recording: " + e.getMessage());
    }
  }

  private static String command(String name, String... arguments) {
    try {
      return String.valueOf(
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  name,
                  new Object[] {arguments},
                  new String[] {String[].class.getName()}));
    } catch (JMException e) {
      return "not available: " + e.getMessage();
    }
  }
}
