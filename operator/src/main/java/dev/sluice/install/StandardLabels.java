package dev.sluice.install;

import dev.sluice.api.ProductLabel;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The labels of every object that is installed (docs/install.md#labels-and-names). Other tools
 * select by them, so name and {@code control-plane} are those that installations of this API have
 * everywhere; {@link ProductLabel} tells Sluice's objects from those of other operators.
 */
public final class StandardLabels {

  static final String COMPONENT = "app.kubernetes.io/component";

  private static final String CONTROLLER = "controller";
  private static final Pattern METADATA = Pattern.compile("(?m)^metadata:\n((?:  .*\n)*)");
  private static final String HEADING = "  labels:\n";

  private StandardLabels() {}

  /** The labels that are the same everywhere, in the order of their names. */
  private static Map<String, String> common() {
    return new TreeMap<>(
        Map.of(
            "app.kubernetes.io/instance",
            "kueue",
            "app.kubernetes.io/name",
            "kueue",
            ProductLabel.KEY,
            ProductLabel.VALUE,
            "app.kubernetes.io/version",
            InstallManifests.version(),
            "control-plane",
            "controller-manager"));
  }

  /** Gives the labels to an object that says its component, or belongs to the controller. */
  static <T extends HasMetadata> T on(T object) {
    Map<String, String> labels = new TreeMap<>(common());
    labels.put(COMPONENT, CONTROLLER);
    if (object.getMetadata().getLabels() != null) {
      labels.putAll(object.getMetadata().getLabels());
    }
    object.getMetadata().setLabels(labels);
    return object;
  }

  /** The same in the text of a manifest, whose comments and order stay. */
  static String in(String document) {
    Matcher metadata = METADATA.matcher(document);
    if (!metadata.find()) {
      throw new IllegalStateException("no metadata in a manifest:\n" + document);
    }
    String fields = metadata.group(1);
    StringBuilder lines = new StringBuilder(HEADING);
    if (!fields.contains("    " + COMPONENT + ": ")) {
      lines.append(line(COMPONENT, CONTROLLER));
    }
    common().forEach((name, value) -> lines.append(line(name, value)));
    String changed =
        fields.contains(HEADING) ? fields.replace(HEADING, lines.toString()) : fields + lines;
    return document.substring(0, metadata.start(1)) + changed + document.substring(metadata.end(1));
  }

  private static String line(String name, String value) {
    return "    " + name + ": " + value + "\n";
  }
}
