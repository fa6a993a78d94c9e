/**
 * Access to worker clusters: turns the text of a kubeconfig into credentials, or into a refusal
 * that says what to change. Input: kubeconfigs and their locations. Output: credentials that run no
 * code, read no other files and never skip the verification of the server.
 */
@NullMarked
package dev.sluice.checks.multikueue.access;

import org.jspecify.annotations.NullMarked;
