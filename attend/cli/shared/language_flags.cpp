#include "attend/cli/shared/language_flags.h"

namespace attend::cli {

void add_language_flags(Verb& verb, std::string& source, std::string& target, const char* group, bool aliases) {
  Flag* from = verb.add_option(aliases ? "--source-lang,--from" : "--source-lang", source,
                               "Language of the text, for multilingual models: en, en_XX or eng_Latn");
  Flag* to = verb.add_option(aliases ? "--target-lang,--to" : "--target-lang", target,
                             "Language of the translation, for multilingual models");
  for (Flag* flag : {from, to}) {
    flag->type_name("CODE")->default_text("as the model's folder says");
    if (group) flag->group(group);
  }
}

}  // namespace attend::cli
