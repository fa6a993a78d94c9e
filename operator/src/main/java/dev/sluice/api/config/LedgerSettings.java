package dev.sluice.api.config;

import dev.sluice.api.KubernetesNames;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Whether and how a ledger is kept (docs/ledger.md#configuration).
 *
 * @param enabled whether it is; all other fields have no effect without it
 * @param directory of the database file and the buffer; empty only if no ledger is kept
 * @param server the database server
 * @param labels the keys of labels of jobs that rows keep
 * @param maxAge how long rows are kept
 * @param maxBufferBytes the most bytes that wait for the database
 * @param currency of prices, as reports name it; empty if nobody says so
 */
public record LedgerSettings(
    boolean enabled,
    String directory,
    Server server,
    List<String> labels,
    Duration maxAge,
    long maxBufferBytes,
    String currency) {

  /**
   * A database server.
   *
   * @param jdbcUrl without a password; empty for a file in the directory
   * @param username empty if the URL says it
   * @param passwordFile the file with the password; empty without one
   */
  public record Server(String jdbcUrl, String username, String passwordFile) {}

  /** The label of jobs that says whose they are; rows keep it besides those that are configured. */
  public static final String USER_LABEL = "sluice.dev/user";

  private static final int MOST_LABELS = 16;
  private static final Pattern CURRENCY = Pattern.compile("[A-Za-z]{0,16}");
  private static final String SERVER = "jdbc:postgresql:";

  /** Reads the block {@code ledger}, which files of both versions may have. */
  static LedgerSettings decode(ObjectFieldReader file) {
    ObjectFieldReader fields = file.object("ledger");
    boolean enabled = fields.flag("enable", false);
    String directory = fields.directory(enabled);
    String jdbcUrl = url(fields);
    String username = fields.text("username", "");
    String passwordFile = fields.text("passwordFile", "");
    fields.check(
        "passwordFile",
        passwordFile.isEmpty() || passwordFile.startsWith("/"),
        passwordFile,
        "the absolute path of a file");
    List<String> labels = fields.texts("labels");
    fields.check(
        "labels",
        labels.size() <= MOST_LABELS && labels.stream().allMatch(KubernetesNames::isLabelKey),
        String.join(", ", labels),
        "at most " + MOST_LABELS + " keys of labels, such as team or example.com/team");
    return fields.done(
        new LedgerSettings(
            enabled,
            directory,
            new Server(jdbcUrl, username, passwordFile),
            labels,
            fields.duration("maxAge", Duration.ofDays(400), Duration.ofHours(1)),
            fields.bytes("maxBufferBytes", "256Mi", 1L << 20, 1L << 40),
            currency(fields)));
  }

  /** The keys of all labels that rows keep. */
  public List<String> kept() {
    return Stream.concat(labels.stream(), Stream.of(USER_LABEL)).distinct().toList();
  }

  private static String currency(ObjectFieldReader fields) {
    String currency = fields.text("currency", "");
    fields.check(
        "currency", CURRENCY.matcher(currency).matches(), currency, "1 to 16 letters, such as EUR");
    return currency;
  }

  /** A URL with a password in it is neither used nor shown. */
  private static String url(ObjectFieldReader fields) {
    String jdbcUrl = fields.text("jdbcUrl", "");
    String lower = jdbcUrl.toLowerCase(Locale.ROOT);
    if (lower.contains("password=") || lower.contains("@")) {
      fields.unsettle("jdbcUrl");
      fields.refuse("jdbcUrl", "must have no password; put it into the file of passwordFile");
      return "";
    }
    fields.check(
        "jdbcUrl",
        jdbcUrl.isEmpty() || jdbcUrl.startsWith(SERVER),
        jdbcUrl,
        "a URL such as jdbc:postgresql://host:5432/database");
    return jdbcUrl;
  }
}
