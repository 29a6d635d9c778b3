#include "attend/data/identify_language.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "attend/data/language.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

struct FunctionWords {
  const char* language;
  std::string_view words;  // the most frequent words of running text, in small letters
};
constexpr FunctionWords kWords[] = {
    {"en",
     "the of and to in is that it was for on are with he she they this be at by not have had but from or an you we "
     "his her what which there their will would been has were a i"},
    {"it",
     "il lo la i gli le di che e è un una uno non per in con sono del della dei delle si da al alla nel nella come "
     "più ma se questo questa ha ho anche a o dal ci mi sul essere"},
    {"fr",
     "le la les de des du un une et est que qui dans en pour pas ne il elle ils ce cette au aux par sur avec plus "
     "se son sa ses je vous nous mais ou où été être a d'un c'est l'on"},
    {"es",
     "el la los las de del que y en un una es no se por con para su al lo como más pero sus le ya o este esta sí "
     "porque entre cuando muy sin sobre también me hasta hay a fue ha"},
    {"pt",
     "o a os as de do da dos das que e em um uma é não se por com para no na nos nas ao mais como mas foi ele ela "
     "seu sua ou quando muito já também só pelo pela até isso são está"},
    {"ca",
     "el la els les de del dels que i en un una és no es per amb per al als com més però va ser són aquest aquesta "
     "ha també o si seva seu hi molt què l'any"},
    {"gl",
     "o a os as de do da dos das que e en un unha é non se por con para no na ao máis como pero foi ou tamén seu "
     "súa entre cando moi polo pola está son"},
    {"ro",
     "și în de la a cu pe nu este un o să din că care se mai pentru sunt au fost al ale lui ei dar ca prin după "
     "fi acest această sau"},
    {"de",
     "der die das und ist in den von zu mit sich des auf für nicht ein eine einen einem als auch es an werden aus "
     "er sie hat dass wie war bei im wir ich nach noch nur oder aber wird sind"},
    {"nl",
     "de het een en van in is dat op te zijn met voor niet aan er om ook als bij maar door hij ze wordt naar uit "
     "dan nog wel was of heeft deze worden over zich ik je"},
    {"af",
     "die en van in is dat op te het nie vir met ’n n om aan as by was sy hy wat ook hulle deur na maar uit word"},
    {"sv",
     "och att det i en som är på för av med den till inte har de ett om var jag men han från vi så kan när ska "
     "eller hon sig under också efter"},
    {"da",
     "og at det i en er på for af med den til ikke har de et om var jeg men han fra vi så kan når skal eller hun "
     "sig som blev også efter"},
    {"no",
     "og at det i en er på for av med den til ikke har de et om var jeg men han fra vi så kan når skal eller hun "
     "seg som ble også etter"},
    {"is", "og að í er á sem til við með en það um ekki af hann var fyrir hún þau eru því frá ég þetta eða hafa þess"},
    {"fi",
     "ja on ei se että oli en hän mutta ovat kun niin myös joka sen olla tai kuin mitä ole hänen ne jos nyt vain "
     "tämä sitä jotka"},
    {"et", "ja on ei et see oli ma ka ta kui aga siis nii oma mis või kes olid seda veel ning juba tema need selle"},
    {"hu", "a az és hogy nem is egy ez volt de meg csak mint van ha már ezt azt még el be ki aki vagy után én neki"},
    {"pl",
     "i w nie na się z do to że jest o jak ale po co tak za od przez dla są był była czy oraz tym który która już "
     "tylko może być"},
    {"cs",
     "a v se na je že to s z do o i ve k jako ale za by po jsou byl byla pro které který nebo od tak jak už také "
     "podle není"},
    {"sk",
     "a v sa na je že to s z do o aj vo k ako ale za by po sú bol bola pre ktoré ktorý alebo od tak už tiež podľa "
     "nie"},
    {"sl", "in je v na da se z za so ki pa ne ni kot tudi po bi o ali s iz pri še tem bil bila do če"},
    {"hr", "i je u na da se za su od s ne koji koja kao što o ali bi sa iz po bio bila nije to ili do te još kako"},
    {"lt", "ir yra į kad su iš ne o tai kaip bet ar už jo buvo po nuo dar jau apie per būti tik taip"},
    {"lv", "un ir ar no uz ka kas bet par tas arī pie kā tika vai pēc bija lai savu ne viņš jau tik gan"},
    {"sq", "të e në dhe i një me për që nga është ka si u se do nuk më janë por ishte kjo ky edhe kanë"},
    {"mt", "il u ta fl li tal għal ma minn kien biex dan jew fuq kif mill din hija huwa ukoll"},
    {"tr", "ve bir bu da de için ile çok ne gibi daha olarak olan var kadar sonra ama o en ki mi ya değil her ben"},
    {"eu", "eta da ez bat zen du ere dira izan hau baina zuen den edo dute izango bere egin dela"},
    {"id",
     "yang dan di itu dengan untuk dari dalam tidak ini pada adalah akan ke ada saya mereka juga bisa oleh karena "
     "atau sudah"},
    {"vi", "và của là có không được trong một cho các người với những này để đã khi từ ra ở về như tôi"},
    {"eo", "la kaj de en estas al ne ke por li ŝi ĝi kun sed mi vi ili estis kiel unu kiu pri"},
    {"ga", "an na agus ar i is a go ní tá le do bhí sé sí don mar ach ag bhfuil leis atá"},
    {"ru", "и в не на что с он как это по но из у за то от так же для о его она был все бы до мы вы или если"},
    {"uk", "і в не на що з він як це по але із у за то від так же для про його вона був та до ми ви або якщо є й"},
    {"bg", "и на да в се от за не че по с са как това той но до като или към беше тя си го ще"},
    {"mk", "и на да во се од за не дека по со се како тоа тој но до или кон беше таа си го ќе"},
    {"sr", "и је у на да се за су од с не који која као што о али би са из по био била није то или до те још како"},
    {"ar", "في من على أن إلى هذا هذه التي الذي عن مع لا ما كان كانت هو هي قد بين و أو ثم كل"},
    {"fa", "در به از که این را است با برای آن یک هم تا می بود شد و خود بر ها های"},
    {"ur", "کے کی میں ہے اور سے کا کو اس نے پر یہ ہیں بھی کہ تھا ایک جو ہو"},
    {"hi", "के में की है और से का को यह नहीं हैं पर ने भी एक कि था इस लिए"},
};

/// Languages whose script is theirs alone, among those that are known.
constexpr std::pair<const char*, Script> kScripts[] = {
    {"el", Script::greek}, {"he", Script::hebrew}, {"th", Script::thai},    {"ka", Script::georgian},
    {"ja", Script::kana},  {"ko", Script::hangul}, {"bn", Script::bengali}, {"zh", Script::han}};

/// Prior counts of words and letters for "unknown language". They keep the confidence low for short texts.
constexpr double kDoubtWords = 1.5, kDoubtLetters = 4;

using Words = std::set<std::string_view>;

const std::map<std::string_view, Words>& function_words() {
  static const std::map<std::string_view, Words> all = [] {
    std::map<std::string_view, Words> made;
    for (const auto& [language, words] : kWords)
      for (std::size_t at = 0; at < words.size();) {
        const std::size_t end = std::min(words.find(' ', at), words.size());
        made[language].insert(words.substr(at, end - at));
        at = end + 1;
      }
    return made;
  }();
  return all;
}

/// The letters of a text by script, and its words in small letters.
struct Parts {
  std::map<Script, double> letters;
  double all_letters = 0;
  std::vector<std::string> words;
};
Parts parts_of(std::string_view text) {
  Parts parts;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) parts.words.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    at += static_cast<std::size_t>(c.size);
    const Script script = script_of(c.value);
    if (script != Script::none) ++parts.letters[script], ++parts.all_letters;
    const bool inner = !word.empty() && (c.value == U'\'' || c.value == U'’');
    if (script == Script::none && !inner && (properties(c.value) & property::kLetter) == 0) {
      end_word();
      continue;
    }
    const LowerCase lower = lower_case(c.value);
    append_utf8(lower.first, word);
    if (lower.second) append_utf8(lower.second, word);
  }
  end_word();
  return parts;
}

}  // namespace

std::vector<LanguageGuess> identify_language(std::string_view text, const std::vector<std::string>& candidates) {
  const Parts parts = parts_of(text);
  std::map<std::string, double> confidence;
  for (const std::string& candidate : candidates) confidence[candidate] = 0;

  const auto letters_in = [&](Script script) {
    const auto found = parts.letters.find(script);
    return found == parts.letters.end() ? 0.0 : found->second;
  };
  // Scripts of one language. Chinese characters are Japanese beside kana.
  const double kana = letters_in(Script::kana);
  for (const auto& [language, script] : kScripts) {
    double letters = letters_in(script);
    if (script == Script::han && kana > 0) letters = 0;
    if (script == Script::kana && kana > 0) letters += letters_in(Script::han);
    confidence[language] = letters > 0 ? letters / (parts.all_letters + kDoubtLetters) : 0;
  }

  // Function words. `hits`: words of the text that are function words of the language; `known`: of any language.
  std::map<std::string_view, double> hits;
  double known = 0;
  for (const std::string& word : parts.words) {
    bool any = false;
    for (const auto& [language, words] : function_words())
      if (words.contains(word)) ++hits[language], any = true;
    known += any;
  }
  // A language explains the known words with its own ones, and others as accidents. The best explanation takes what
  // the languages that it resembles would get otherwise.
  constexpr double kAccident = 0.1;
  double total = 0, most = 0;
  for (const auto& [language, count] : hits) most = std::max(most, count);
  std::map<std::string_view, double> likelihoods;
  for (const auto& [language, count] : hits) total += likelihoods[language] = std::pow(kAccident, most - count);
  for (const auto& [language, count] : hits) {
    const std::vector<Script> scripts = scripts_of_language(language);
    const double share = scripts.empty() ? 1 : share_in_scripts(text, scripts);
    confidence[std::string(language)] = share * likelihoods[language] / total * count / (known + kDoubtWords);
  }

  // The rest of the letters of a script goes to all languages that are written with it, in equal parts.
  for (const auto& [language, words] : function_words()) confidence.try_emplace(std::string(language), 0);
  for (const auto& [script, letters] : parts.letters) {
    std::vector<double*> writers;
    double told = 0;
    for (auto& [language, value] : confidence) {
      const std::vector<Script> scripts = scripts_of_language(language);
      if (std::ranges::find(scripts, script) == scripts.end()) continue;
      writers.push_back(&value), told += value;
    }
    const double doubt = std::max(letters / (parts.all_letters + kDoubtLetters) - told, 0.0);
    constexpr double kOthers = 20;  // languages of the script that are not known here
    for (double* value : writers) *value += doubt / (static_cast<double>(writers.size()) + kOthers);
  }

  std::vector<LanguageGuess> guesses;
  for (const auto& [language, value] : confidence)
    if (value > 0 || std::ranges::find(candidates, language) != candidates.end()) guesses.push_back({language, value});
  std::ranges::stable_sort(guesses, std::greater(), &LanguageGuess::confidence);
  return guesses;
}

}  // namespace attend
