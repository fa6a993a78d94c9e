/**
 * Demo scenarios on real control planes: the manifests are applied unchanged, and the expectations
 * are judged by recorded watch events. Input: clients and an environment. Output: a live table, a
 * summary and an exit code. Tests run the same scenarios.
 */
@NullMarked
package dev.sluice.lab.demo;

import org.jspecify.annotations.NullMarked;
