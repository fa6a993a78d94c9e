/**
 * Tests of the deletion of pods by force. Pods and nodes in the words of tests may enter; what is
 * decided, and what is sent to the API server, is looked at. Nothing leaves.
 */
@NullMarked
package dev.sluice.jobs.recovery;

import org.jspecify.annotations.NullMarked;
