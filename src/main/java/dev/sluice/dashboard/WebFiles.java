package dev.sluice.dashboard;

import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The files of the front end. They are read from the program once, by a list of their names, so no
 * path of a request ever reaches a file system. They hold no data of a cluster, and everybody may
 * load them.
 */
final class WebFiles {

  private static final String FOLDER = "web/";

  /** The page itself. */
  private static final String INDEX = "index.html";

  private static final List<String> NAMES =
      List.of(
          INDEX,
          "style.css",
          "icon.svg",
          "app.js",
          "api.js",
          "dom.js",
          "format.js",
          "parts.js",
          "rows.js",
          "overview.js",
          "queues.js",
          "workloads.js",
          "workload.js",
          "topology.js",
          "clusters.js");

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "svg", "image/svg+xml");

  private record WebFile(byte[] content, String type, String tag) {}

  private final Map<String, WebFile> files = new HashMap<>();

  /** The files of this program. */
  WebFiles() {
    for (String name : NAMES) {
      byte[] content = content(name);
      String type = TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "text/plain");
      files.put("/" + name, new WebFile(content, type, tag(content)));
    }
    files.put("/", file("/" + INDEX).orElseThrow());
  }

  private static byte[] content(String name) {
    try (InputStream in = WebFiles.class.getResourceAsStream(FOLDER + name)) {
      if (in == null) {
        throw new IllegalStateException("the program lacks " + name);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String tag(byte[] content) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
      return "\"" + HexFormat.of().formatHex(digest, 0, 12) + "\"";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every platform has SHA-256", e);
    }
  }

  private Optional<WebFile> file(String path) {
    return Optional.ofNullable(files.get(path));
  }

  /** The file of a path; empty if there is none. */
  Optional<Response> answer(Request request) {
    return file(request.path())
        .map(
            file -> {
              boolean known = request.headerValues("if-none-match").contains(file.tag());
              return new Response(
                      known ? 304 : 200, file.type(), known ? new byte[0] : file.content())
                  .with(Map.of("ETag", file.tag(), "Cache-Control", "no-cache"));
            });
  }
}
