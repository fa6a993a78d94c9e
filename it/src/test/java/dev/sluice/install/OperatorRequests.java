package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What the installed operator asked an API server for lately, as its audit log tells. */
final class OperatorRequests {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String USER = InstallManifests.user(InstallManifests.NAMESPACE);

  private OperatorRequests() {}

  /**
   * The requests since the last so many renewals of the lease, without these and without watches,
   * in order: verb and address. One that says so stands for a lease that was renewed less often.
   */
  static List<String> since(Path log, int renewals) throws IOException {
    List<String> requests = new ArrayList<>();
    int renewed = 0;
    for (String line : Files.readAllLines(log).reversed()) {
      JsonNode entry = entry(line);
      if (!USER.equals(entry.at("/user/username").asText())) {
        continue;
      }
      String verb = entry.path("verb").asText();
      if (entry.at("/objectRef/resource").asText().equals("leases")) {
        renewed += verb.equals("get") ? 0 : 1;
        if (renewed > renewals) {
          return requests.reversed();
        }
      } else if (!verb.equals("watch")) {
        requests.add(verb + " " + entry.path("requestURI").asText());
      }
    }
    requests.add("the lease was renewed " + renewed + " times only");
    return requests.reversed();
  }

  /** The last line may be half written. */
  private static JsonNode entry(String line) {
    try {
      return JSON.readTree(line);
    } catch (IOException e) {
      return JSON.nullNode();
    }
  }
}
