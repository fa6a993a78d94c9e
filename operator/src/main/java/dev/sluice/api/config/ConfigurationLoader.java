package dev.sluice.api.config;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.config.Configuration.DashboardServer;
import dev.sluice.api.config.Configuration.DashboardServer.TrustedProxy;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Makes the {@link Configuration} from what people wrote, or tells them everything that is wrong.
 */
public final class ConfigurationLoader {

  private static final String KIND = "Configuration";

  private ConfigurationLoader() {}

  /**
   * The configuration of a file and the command line. Without a file the kinds of the shipped
   * manifests are managed, and every other default applies.
   *
   * @param file the value of {@code --config}
   * @param featureGates the value of {@code --feature-gates}, such as {@code A=true,B=false}
   * @param defaultNamespace the operator's namespace where the file doesn't say one
   * @throws ConfigurationException with every problem of file and command line
   */
  public static Configuration load(
      Optional<Path> file, Optional<String> featureGates, Supplier<String> defaultNamespace)
      throws ConfigurationException {
    return load(file, featureGates, false, defaultNamespace);
  }

  /**
   * The same with the dashboard.
   *
   * @param dashboard true: the dashboard is served, whether or not the file enables it; false: as
   *     the file says
   */
  public static Configuration load(
      Optional<Path> file,
      Optional<String> featureGates,
      boolean dashboard,
      Supplier<String> defaultNamespace)
      throws ConfigurationException {
    String gates = featureGates.orElse("");
    if (file.isEmpty()) {
      ObjectNode shipped =
          JsonNodeFactory.instance
              .objectNode()
              .put("apiVersion", ConfigurationVersion.V1BETA2.apiVersion())
              .put("kind", KIND);
      JobFrameworks.shipped()
          .forEach(shipped.putObject("integrations").putArray("frameworks")::add);
      if (dashboard) {
        enableDashboard(shipped);
      }
      return settle("the command line", shipped, new ValidationErrors(), gates, defaultNamespace);
    }
    ValidationErrors errors = new ValidationErrors();
    String source = "configuration file " + file.get();
    JsonNode tree = read(file.get(), source, errors);
    if (dashboard) {
      enableDashboard(tree);
    }
    return settle(source, tree, errors, gates, defaultNamespace);
  }

  /** A block that isn't an object stays as it is, and is refused later. */
  private static void enableDashboard(JsonNode tree) {
    if (tree instanceof ObjectNode file) {
      JsonNode block = file.path(DashboardDecoder.BLOCK);
      if (block instanceof ObjectNode fields) {
        fields.put(DashboardDecoder.ENABLED, true);
      } else if (block.isMissingNode() || block.isNull()) {
        file.putObject(DashboardDecoder.BLOCK).put(DashboardDecoder.ENABLED, true);
      }
    }
  }

  /**
   * The configuration of a file's text.
   *
   * @param yaml one YAML document
   * @param featureGates the value of {@code --feature-gates}, maybe empty
   * @param defaultNamespace the operator's namespace where the text doesn't say one
   * @throws ConfigurationException with every problem
   */
  public static Configuration parse(
      String yaml, String featureGates, Supplier<String> defaultNamespace)
      throws ConfigurationException {
    ValidationErrors errors = new ValidationErrors();
    String source = "configuration";
    try {
      JsonNode tree = StrictYamlDocument.read(yaml, errors);
      return settle(source, tree, errors, featureGates, defaultNamespace);
    } catch (IOException e) {
      errors.add("", "can't be read: " + e.getMessage());
      throw new ConfigurationException(source, errors.all());
    }
  }

  private static JsonNode read(Path file, String source, ValidationErrors errors)
      throws ConfigurationException {
    try {
      return StrictYamlDocument.read(Files.readString(file), errors);
    } catch (IOException e) {
      errors.add("", unread(e));
      throw new ConfigurationException(source, errors.all());
    }
  }

  private static String unread(IOException e) {
    return switch (e) {
      case NoSuchFileException missing -> "does not exist";
      case AccessDeniedException denied -> "this user may not read it";
      case CharacterCodingException binary -> "is no text in UTF-8";
      default -> "can't be read: " + e.getMessage();
    };
  }

  private static Configuration settle(
      String source,
      JsonNode tree,
      ValidationErrors errors,
      String featureGates,
      Supplier<String> defaultNamespace)
      throws ConfigurationException {
    if (tree.isMissingNode()) {
      throw new ConfigurationException(source, errors.all());
    }
    ObjectFieldReader file = new ObjectFieldReader(tree, "", errors);
    Optional<ConfigurationVersion> version = version(file, errors);
    Configuration configuration =
        new ConfigurationDecoder(
                version.orElse(ConfigurationVersion.V1BETA2), errors, defaultNamespace)
            .decode(file, featureGates);
    if (!errors.all().isEmpty()) {
      throw new ConfigurationException(source, errors.all());
    }
    return configuration;
  }

  private static Optional<ConfigurationVersion> version(
      ObjectFieldReader file, ValidationErrors errors) {
    Map<String, ConfigurationVersion> known = ConfigurationVersion.byName();
    file.required("kind", KIND);
    file.text("kind")
        .filter(kind -> !kind.isEmpty())
        .ifPresent(kind -> errors.check(kind.equals(KIND), "kind", kind, KIND));
    String apiVersion = file.required("apiVersion", String.join(" or ", known.keySet()));
    errors.check(
        apiVersion.isEmpty() || known.containsKey(apiVersion),
        "apiVersion",
        apiVersion,
        String.join(" or ", known.keySet()));
    return Optional.ofNullable(known.get(apiVersion));
  }

  /**
   * Reads one YAML document strictly: fields given twice, aliases, endless numbers and further
   * documents are problems.
   */
  private static final class StrictYamlDocument {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    /** More than any field can have. */
    private static final int MOST_DIGITS = 1000;

    private final YAMLParser parser;
    private final ValidationErrors errors;

    private StrictYamlDocument(YAMLParser parser, ValidationErrors errors) {
      this.parser = parser;
      this.errors = errors;
    }

    /**
     * The document as a tree. What can't be read is noted in {@code problems}; the tree then holds
     * what was read before.
     */
    static JsonNode read(String yaml, ValidationErrors errors) throws IOException {
      try (YAMLParser parser = new YAMLFactory().createParser(yaml)) {
        return new StrictYamlDocument(parser, errors).whole();
      } catch (JsonProcessingException e) {
        JsonLocation at = e.getLocation();
        String line = at == null ? "" : "line " + at.getLineNr() + ": ";
        errors.add("", line + "not YAML: " + e.getOriginalMessage().lines().findFirst().orElse(""));
        return NODES.missingNode();
      }
    }

    private JsonNode whole() throws IOException {
      JsonToken first = parser.nextToken();
      if (first == null) {
        errors.add("", "the file is empty; at least apiVersion and kind are needed");
        return NODES.missingNode();
      }
      JsonNode root = value(first, "");
      if (parser.nextToken() != null) {
        errors.add("", "line " + line() + ": a second YAML document; only one is allowed");
      }
      return root;
    }

    private JsonNode value(JsonToken token, String path) throws IOException {
      if (parser.isCurrentAlias()) {
        errors.add(path, "line " + line() + ": YAML aliases are not allowed; write the value out");
        return NODES.nullNode();
      }
      return switch (token) {
        case START_OBJECT -> object(path);
        case START_ARRAY -> array(path);
        case VALUE_TRUE -> NODES.booleanNode(true);
        case VALUE_FALSE -> NODES.booleanNode(false);
        case VALUE_NUMBER_INT ->
            parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                ? NODES.numberNode(parser.getBigIntegerValue())
                : NODES.numberNode(parser.getLongValue());
        case VALUE_NUMBER_FLOAT -> decimal(path);
        case VALUE_NULL -> NODES.nullNode();
        default -> NODES.textNode(parser.getText());
      };
    }

    /** A decimal number; one of more digits would take as many bytes wherever it is written. */
    private JsonNode decimal(String path) throws IOException {
      BigDecimal number = parser.getDecimalValue();
      long before = (long) number.precision() - number.scale();
      if (before > MOST_DIGITS || number.scale() > MOST_DIGITS) {
        errors.add(
            path,
            "%s is not allowed; allowed: a number of at most %d digits before and after the decimal point"
                .formatted(parser.getText(), MOST_DIGITS));
        return NODES.nullNode();
      }
      return NODES.numberNode(number);
    }

    private JsonNode object(String path) throws IOException {
      ObjectNode object = NODES.objectNode();
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        String name = parser.currentName();
        String below = ObjectFieldReader.below(path, name);
        int line = line();
        JsonNode value = value(parser.nextToken(), below);
        if (object.has(name)) {
          errors.add(below, "line " + line + ": given twice; each field may be given once");
        } else {
          object.set(name, value);
        }
      }
      return object;
    }

    private JsonNode array(String path) throws IOException {
      ArrayNode array = NODES.arrayNode();
      for (JsonToken token = parser.nextToken();
          token != JsonToken.END_ARRAY;
          token = parser.nextToken()) {
        array.add(value(token, path + "[" + array.size() + "]"));
      }
      return array;
    }

    private int line() {
      return parser.currentTokenLocation().getLineNr();
    }
  }

  /** Reads the block {@code dashboard}, which files of both versions may have. */
  static final class DashboardDecoder {

    /** The block's name in the file. */
    static final String BLOCK = "dashboard";

    /** The field that turns the dashboard on. */
    static final String ENABLED = "enabled";

    private static final int USUAL_PORT = 8444;

    /** Names of headers, as RFC 9110 has them. */
    private static final String HEADER = "[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}";

    private DashboardDecoder() {}

    /** The block of the file; where it is absent, no dashboard is served. */
    static DashboardServer decode(ObjectFieldReader file) {
      ObjectFieldReader fields = file.object(BLOCK);
      boolean enabled = fields.flag(ENABLED, false);
      String address = fields.text("bindAddress", "");
      fields.check(
          "bindAddress",
          address.isEmpty() || KubernetesNames.isIpAddress(address),
          address,
          "an IPv4 or IPv6 address");
      int port = fields.whole("bindPort", USUAL_PORT, 1, 65535);
      fields.accept("proxy");
      Optional<TrustedProxy> proxy =
          fields.has("proxy") ? Optional.of(proxy(fields.object("proxy"))) : Optional.empty();
      return fields.done(new DashboardServer(enabled, address, port, proxy));
    }

    private static TrustedProxy proxy(ObjectFieldReader fields) {
      String file = fields.text("clientCAFile", "");
      fields.check("clientCAFile", !file.isEmpty(), file, "the path of a file");
      String user = header(fields, "userHeader", "X-Forwarded-User");
      String groups = header(fields, "groupsHeader", "X-Forwarded-Groups");
      return fields.done(new TrustedProxy(file, fields.texts("names"), user, groups));
    }

    private static String header(ObjectFieldReader fields, String name, String usual) {
      String header = fields.text(name, usual);
      fields.check(name, header.matches(HEADER), header, "the name of a header");
      return header;
    }
  }

  /** The versions of the file. */
  enum ConfigurationVersion {
    V1BETA2("config.kueue.x-k8s.io/v1beta2"),
    V1BETA1("config.kueue.x-k8s.io/v1beta1");

    private final String apiVersion;

    ConfigurationVersion(String apiVersion) {
      this.apiVersion = apiVersion;
    }

    String apiVersion() {
      return apiVersion;
    }

    /** The versions by what the file says, the newest first. */
    static Map<String, ConfigurationVersion> byName() {
      Map<String, ConfigurationVersion> result = new LinkedHashMap<>();
      for (ConfigurationVersion configurationVersion : values()) {
        result.put(configurationVersion.apiVersion, configurationVersion);
      }
      return result;
    }
  }
}
