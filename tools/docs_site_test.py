#!/usr/bin/env python3
"""What docs_site.py makes of a page, without Sphinx."""

import unittest

import docs_site

PAGE = docs_site.DOCS / "A.md"


class Site(unittest.TestCase):
    def test_groups_are_the_headings_of_the_index(self):
        index = "# Title\n[A](A.md)\n## First\n- [B](B.md): b\n- [C](C.md)\n## Last\n- [D](D.md)\n"
        self.assertEqual(docs_site.groups(index), {"First": ["B", "C"], "Last": ["D"]})

    def test_links_to_pages_stay(self):
        text = "[a](LANGUAGE.md#batches) [b](#here) ![c](pictures/pipeline.svg) [d](https://e.org)"
        self.assertEqual(docs_site.for_site(text, PAGE, ""), text)

    def test_links_to_other_files_are_text_or_lead_to_the_homepage(self):
        text = "[base](../configs/base.yaml) [`dev`](../dev)"
        self.assertEqual(docs_site.for_site(text, PAGE, ""), "base (`configs/base.yaml`) `dev`")
        self.assertEqual(docs_site.for_site(text, PAGE, "https://e.org"),
                         "[base](https://e.org/blob/main/configs/base.yaml) "
                         "[`dev`](https://e.org/blob/main/dev)")

    def test_code_stays(self):
        text = "```sh\n[a](../gone)\n```\n"
        self.assertEqual(docs_site.for_site(text, PAGE, ""), text)

    def test_a_link_that_leads_nowhere_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "docs/A.md: there is no ../gone"):
            docs_site.for_site("[a](../gone)", PAGE, "")

    def test_anchors_are_those_of_github(self):
        self.assertEqual(docs_site.slug("What a stage reads: `from:`"), "what-a-stage-reads-from")


if __name__ == "__main__":
    unittest.main()
