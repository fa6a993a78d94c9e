/**
 * Plays the own controllers of kinds of jobs that no control plane has by itself: thin definitions
 * of the kinds, and a description of each controller as pure functions. Objects enter from watches;
 * children and statuses leave as requests.
 */
@NullMarked
package dev.sluice.lab.player;

import org.jspecify.annotations.NullMarked;
