/**
 * How a worker cluster may be reached: from the text of a kubeconfig to credentials, or to a
 * refusal that says what to change. Kubeconfigs and places where they lie may enter. Credentials
 * leave, in which nothing runs code, reads files of others or skips the verification of the server.
 */
@NullMarked
package dev.sluice.checks.multikueue.access;

import org.jspecify.annotations.NullMarked;
