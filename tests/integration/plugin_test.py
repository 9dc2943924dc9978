#!/usr/bin/env python3
"""Plugins: stage types from a shared library that the YAML names, and what goes wrong with them."""

import re

import brigade_program
from brigade_program import ProgramTest, Running, main


def plugins():
    return brigade_program.PROGRAM.parent.parent / "tests" / "plugins"


def line(plugin, stage="heavy", more=""):
    return f"""stages:
  numbers: {{producer: synthetic, params: {{count: 100}}}}
  middle:
    transform: {stage}
    from: numbers
    plugin: {plugins() / plugin}
{more}  end: {{consumer: count, from: middle}}
"""


class Plugins(ProgramTest):
    def command(self, *arguments):
        self.runs.append(Running(arguments))
        return self.runs[-1].finish()

    def check(self, yaml):
        """Where the mistakes are, and what they say."""
        finished = self.command("check", self.write("graph.yaml", yaml))
        self.assertEqual(finished.code, 2, finished.out + finished.err)
        said = re.findall(r"^\S*graph\.yaml:(\d+:\d+): error: (.*)$", finished.err, re.M)
        return [(place, text.replace(str(plugins()), "PLUGINS")) for place, text in said]

    def one_mistake(self, plugin, text, stage="heavy"):
        self.assertEqual(self.check(line(plugin, stage)), [("6:13", f'stage "middle": {text}')])

    def failed(self, yaml, text, *arguments):
        finished = self.run_graph(yaml, "--quiet", *arguments)
        self.assertEqual(finished.code, 1, finished.out + finished.err)
        said = finished.err.replace(str(plugins()), "PLUGINS").splitlines()
        said = [re.sub(r"\d{10,}|\(pid \d+\) ", "N", one)
                for one in said if "in-process" not in one]
        self.assertEqual(said, [f'brigade: error: stage "middle" replica 0 {text}'])

    def test_all_kinds_of_stages_run_from_one_library(self):
        light = plugins() / "light.so"
        yaml = f"""
epochs: 3
stages:
  ticks: {{producer: ticks, plugin: {light}, params: {{count: 1000}}, shuffle: true}}
  negate: {{transform: negate, plugin: {light}, from: ticks, replicas: 2}}
  total: {{consumer: total, plugin: {light}, from: negate}}
"""
        for arguments in ([], ["--in-process"]):
            summary = self.summary(yaml, *arguments)
            self.assertEqual(summary["results"]["total"]["total"], -3 * 999 * 1000 / 2)
            self.assertEqual(summary["samples"], 3000)

    def test_a_plugin_of_two_halves_runs(self):
        for arguments in ([], ["--in-process"]):
            self.assertEqual(self.summary(line("heavy.so"), *arguments)["samples"], 100)

    def test_a_fused_mixes_types_of_a_plugin_and_of_the_program(self):
        yaml = line("heavy.so", "[passthrough, {heavy: {weight: 3}}, delay]")
        for arguments in ([], ["--in-process"]):
            self.assertEqual(self.summary(yaml, *arguments)["samples"], 100)

    def test_the_other_commands_know_its_types(self):
        graph = self.write("graph.yaml", line("heavy.so", more="    params: {weight: 2}\n"))
        self.assertIn("ok: 3 stages", self.command("check", graph).out)
        self.assertIn("heavy", self.command("plan", graph).out)
        self.assertIn("heavy", self.command("graph", graph).out)
        effective = self.command("plan", graph, "--yaml").out
        self.assertIn(f"plugin: {plugins()}/heavy.so", effective)
        self.assertEqual(self.summary(effective)["samples"], 100)
        sampled = self.command("sample", graph, "--stage", "middle", "-n", "2", "--out",
                               self.folder / "samples")
        self.assertEqual(sampled.code, 0, sampled.err)
        self.assertIn("2 samples", sampled.out)

    def test_mistakes_stand_where_the_plugin_is_named(self):
        self.one_mistake("nowhere.so", "there is no plugin PLUGINS/nowhere.so")
        self.one_mistake("alone.so", 'there is no PLUGINS/brigade_nowhere.so, which contains the '
                                     'body of "heavy"')
        (self.folder / "text.so").write_text("no library, a text\n" * 100)
        self.assertEqual(self.check(line(self.folder / "text.so")),
                         [("6:13", f'stage "middle": the plugin {self.folder}/text.so cannot be '
                                   "opened: invalid ELF header")])
        self.one_mistake("no_symbol.so",
                         "the plugin PLUGINS/no_symbol.so is not a plugin of Brigade: it has no "
                         "symbol brigade_plugin_v1 (write BRIGADE_PLUGIN(types) {...} in one of "
                         "its sources)")
        self.one_mistake("throws.so", "the plugin PLUGINS/throws.so failed to list its stage "
                                      "types: its licence is missing")
        self.one_mistake("twice.so",
                         'the plugin PLUGINS/twice.so has the stage type "shake" twice', "shake")
        self.one_mistake("builtin_name.so",
                         'the plugin PLUGINS/builtin_name.so has the stage type "count": this '
                         "type is already built into the program", "count")

    def test_another_layout_is_refused_with_both_values(self):
        [(place, text)] = self.check(line("other_layout.so"))
        values = re.fullmatch(
            r'stage "middle": the plugin PLUGINS/other_layout.so was built against another version '
            r"of Brigade: layout (\d+), this program has (\d+); build it again", text)
        self.assertIsNotNone(values, text)
        self.assertEqual((place, int(values[1])), ("6:13", int(values[2]) + 1))

    def test_halves_of_different_builds_are_refused(self):
        self.assertEqual(self.command("check", self.write("g.yaml", line("edited.so"))).code, 0)
        text = ('failed: the contract of stage type "heavy" in PLUGINS/brigade_heavy.so differs '
                "from the contract that was checked (hash N, expected N); rebuild both halves of "
                "the plugin")
        self.failed(line("edited.so"), f"N{text}")
        self.failed(line("edited.so"), text, "--in-process")


if __name__ == "__main__":
    main()
