/**
 * The story of the first Job, told on a real control plane: its manifests are applied unchanged,
 * and six expectations are judged by what the API server's watches tell. A client and a stage
 * enter; the test of the same story enters here too. What leaves is a live table, a summary and an
 * exit code.
 */
@NullMarked
package dev.sluice.lab.demo;

import org.jspecify.annotations.NullMarked;
